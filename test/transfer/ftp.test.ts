// FTP and FTPS on vsftpd and pyftpdlib.
import { faultSuite } from './fault-suite.js';
import { remoteSuite } from './remote-suite.js';
import { startPyftpd, startVsftpd } from './servers/ftp.js';

remoteSuite('vsftpd', startVsftpd);
remoteSuite('pyftpdlib', startPyftpd);
faultSuite('vsftpd', startVsftpd);
faultSuite('pyftpdlib', startPyftpd);
