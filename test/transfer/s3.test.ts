// Object stores: s3rver and moto.
import { remoteSuite } from './remote-suite.js';
import { startMoto, startS3rver } from './servers/s3.js';

remoteSuite('s3rver', startS3rver);
remoteSuite('moto', startMoto);
