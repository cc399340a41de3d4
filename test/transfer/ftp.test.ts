// FTP and FTPS on vsftpd and pyftpdlib.
import { remoteSuite } from './remote-suite.js';
import { startPyftpd, startVsftpd } from './servers/ftp.js';

remoteSuite('vsftpd', startVsftpd);
remoteSuite('pyftpdlib', startPyftpd);
