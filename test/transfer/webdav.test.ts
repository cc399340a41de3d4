// WebDAV on Apache and rclone.
import { faultSuite } from './fault-suite.js';
import { remoteSuite } from './remote-suite.js';
import { startApache, startRclone } from './servers/webdav.js';

remoteSuite('Apache', startApache);
remoteSuite('rclone', startRclone);
faultSuite('Apache', startApache);
faultSuite('rclone', startRclone);
