// SFTP on OpenSSH.
import { remoteSuite } from './remote-suite.js';
import { startSshd } from './servers/sftp.js';

remoteSuite('sshd', startSshd);
