// Object stores: s3rver and moto.
import { faultSuite } from './fault-suite.js';
import { remoteSuite } from './remote-suite.js';
import { startMoto, startS3rver } from './servers/s3.js';

remoteSuite('s3rver', startS3rver);
remoteSuite('moto', startMoto);
faultSuite('s3rver', startS3rver, true);
faultSuite('moto', startMoto);
