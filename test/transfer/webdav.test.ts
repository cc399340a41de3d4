// WebDAV on Apache and rclone.
import { remoteSuite } from './remote-suite.js';
import { startApache, startRclone } from './servers/webdav.js';

remoteSuite('Apache', startApache);
remoteSuite('rclone', startRclone);
