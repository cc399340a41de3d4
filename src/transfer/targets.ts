/** Configuration of where inputs come from and products go: output folder, URL input, remote targets (contract C3). */
import {
  bytes,
  type ConfigOf,
  type CrossCheck,
  checkAddress,
  checkSecureUrl,
  duration,
  type Findings,
  flag,
  type KeyGroup,
  path,
  secret,
  section,
  type Targets,
  targets,
  text,
  texts,
  wholeNumber,
} from '../config/key.js';
import { checkUrlHost } from './url-hosts.js';

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;

/** Of every remote target. */
const COMMON_KEYS = {
  timeout_seconds: wholeNumber({ default: 30, max: 86_400, zero: 'default' }),
  max_bytes: bytes({ default: DEFAULT_MAX_BYTES }),
  overwrite: flag({ default: false }),
} satisfies KeyGroup;

/** Of targets whose connections are kept (contract S5). */
const POOL_KEYS = {
  max_idle: wholeNumber({ default: 2, max: 1000, zero: 'default' }),
  idle_ttl: duration({ default: '2m', zero: 'default', max: '24h' }),
} satisfies KeyGroup;

export const FTP_KEYS = {
  addr: text({ isRequired: true, check: checkAddress }),
  user: text(),
  password: secret(),
  base_dir: text({ check: checkFolder }),
  insecure: flag({ default: false }),
  implicit: flag({ default: false }),
  insecure_skip_verify: flag({ default: false }),
  disable_epsv: flag({ default: false }),
  ...COMMON_KEYS,
  ...POOL_KEYS,
} satisfies KeyGroup;

export const S3_KEYS = {
  endpoint: text({ isRequired: true, check: checkS3Endpoint }),
  secure: flag({ default: false }),
  region: text(),
  access_key: text(),
  secret_key: secret(),
  session_token: secret(),
  bucket: text({ isRequired: true, check: checkBucket }),
  prefix: text({ check: checkFolder }),
  path_style: flag({ default: false }),
  ...COMMON_KEYS,
} satisfies KeyGroup;

export const WEBDAV_KEYS = {
  endpoint: text({ isRequired: true, check: checkSecureUrl }),
  user: text(),
  password: secret(),
  base_dir: text({ check: checkFolder }),
  ...COMMON_KEYS,
} satisfies KeyGroup;

const SFTP_AUTH_KEYS = {
  agent_socket: path(),
  private_key_file: path(),
  private_key_passphrase: secret(),
  password: secret(),
} satisfies KeyGroup;

export const SFTP_KEYS = {
  addr: text({ isRequired: true, check: checkAddress }),
  user: text({ isRequired: true }),
  auth: section(SFTP_AUTH_KEYS),
  base_dir: text({ check: checkFolder }),
  host_key_sha256: text({ check: checkFingerprint }),
  host_key_file: path(),
  insecure_ignore_host_key: flag({ default: false }),
  ...COMMON_KEYS,
  ...POOL_KEYS,
} satisfies KeyGroup;

export const TRANSFER_KEYS = {
  output_dir: path({ isRequired: true, env: ['OFD_SERVER_OUTPUT_DIR'] }),
  /** Products older than this are removed; 0 keeps them. */
  output_retention: duration({ default: '0s', zero: 'itself' }),
  allow_input_url_hosts: texts({ check: checkUrlHost }),
  url_timeout: duration({ default: '30s', zero: 'default', max: '500h' }),
  allow_url_redirects: flag({ default: false }),
  ftp_targets: targets(FTP_KEYS),
  s3_targets: targets(S3_KEYS),
  webdav_targets: targets(WEBDAV_KEYS),
  sftp_targets: targets(SFTP_KEYS),
  allow_insecure_ftp: flag({ default: false }),
  allow_insecure_s3: flag({ default: false }),
} satisfies KeyGroup;

export type TransferConfig = ConfigOf<typeof TRANSFER_KEYS>;

/** What no single key of a target can tell: encryption, host keys, ways to log in. */
export const checkTransfer: CrossCheck<TransferConfig> = (config, findings) => {
  checkFtpTargets(config, findings);
  checkS3Targets(config, findings);
  for (const [name, target] of config.webdavTargets) {
    const at = `webdav_targets.${name}`;
    if (target.user !== '' && target.password === undefined) {
      findings.warn(`${at}.password`, `is not set for user ${target.user}`);
    }
  }
  checkSftpTargets(config.sftpTargets, findings);
};

function checkFtpTargets(config: TransferConfig, findings: Findings): void {
  for (const [name, target] of config.ftpTargets) {
    const at = `ftp_targets.${name}`;
    if (target.insecure && !config.allowInsecureFtp) {
      findings.fault(
        `${at}.insecure`,
        'true sends the password unencrypted; set allow_insecure_ftp to true to allow it',
      );
    } else if (target.insecure) {
      findings.warn(`${at}.insecure`, 'user, password and files travel unencrypted');
    }
    if (target.insecure && target.implicit) {
      findings.fault(`${at}.implicit`, 'true means TLS from the first byte, insecure means none; keep one of the two');
    }
    if (target.insecureSkipVerify) findings.warn(`${at}.insecure_skip_verify`, 'the certificate is not checked');
  }
}

function checkS3Targets(config: TransferConfig, findings: Findings): void {
  for (const [name, target] of config.s3Targets) {
    const at = `s3_targets.${name}`;
    if (!target.secure && !config.allowInsecureS3) {
      findings.fault(`${at}.secure`, 'false means http; set it to true, or allow_insecure_s3 to true to allow http');
    } else if (!target.secure) {
      findings.warn(`${at}.secure`, 'files travel unencrypted over http');
    }
    const scheme = /^(https?):\/\//.exec(target.endpoint)?.[1];
    if (scheme !== undefined && (scheme === 'https') !== target.secure) {
      findings.fault(`${at}.endpoint`, `${scheme} contradicts secure: ${target.secure}; write host:port alone`);
    }
    if ((target.accessKey === '') !== (target.secretKey === undefined)) {
      findings.fault(at, 'access_key and secret_key belong together; one of them is not set');
    }
  }
}

function checkSftpTargets(sftpTargets: Targets<typeof SFTP_KEYS>, findings: Findings): void {
  for (const [name, target] of sftpTargets) {
    const at = `sftp_targets.${name}`;
    const { auth } = target;
    if (auth.agentSocket === '' && auth.privateKeyFile === '' && auth.password === undefined) {
      findings.fault(`${at}.auth`, 'has no way to log in; set agent_socket, private_key_file or password');
    }
    if (auth.privateKeyPassphrase !== undefined && auth.privateKeyFile === '') {
      findings.fault(`${at}.auth.private_key_passphrase`, 'stands without private_key_file');
    }
    if (target.hostKeySha256 === '' && target.hostKeyFile === '' && !target.insecureIgnoreHostKey) {
      const ways = 'host_key_sha256 (as ssh-keygen -lf prints it), host_key_file or insecure_ignore_host_key';
      findings.fault(at, `the server's host key would not be checked; set ${ways}`);
    }
    if (target.insecureIgnoreHostKey) {
      findings.warn(`${at}.insecure_ignore_host_key`, 'the host key is not checked: anyone in between can pose as it');
    }
  }
}

function checkS3Endpoint(value: string): string | undefined {
  return checkAddress(value.replace(/^https?:\/\//, '').replace(/\/$/, ''));
}

function checkBucket(value: string): string | undefined {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/.test(value) ? undefined : 'a bucket name has letters, digits, . _ - only';
}

function checkFolder(value: string): string | undefined {
  if (value.includes('\\')) return 'folders are separated by /, not \\';
  return value.split('/').includes('..') ? '.. is not allowed in a path' : undefined;
}

function checkFingerprint(value: string): string | undefined {
  return /^(?:SHA256:)?[A-Za-z0-9+/]{43}=?$/.test(value)
    ? undefined
    : 'write the fingerprint as ssh-keygen -lf prints it: SHA256: and 43 characters';
}
