/** A real server that the tests of remote targets deliver to. */

/** Where a file at the server is looked at behind its back. */
export interface TestServer {
  /** The kind of `output.kind` that delivers to it. */
  readonly kind: 'ftp' | 's3' | 'webdav' | 'sftp';
  /** Ports that a client connects to: the first is the one of the address, the rest those of passive FTP. */
  readonly ports: readonly number[];
  /** Keys of the target in the configuration, with the address of the server or of a proxy before it. */
  target(host?: string, port?: number): Record<string, unknown>;
  /** The content of a file below the target's folder; undefined where there is none. */
  read(path: string): Promise<Buffer | undefined>;
  /** Puts a file there as somebody else would. */
  write(path: string, content: string): Promise<void>;
  /** Every file below the target's folder, by path, temporary ones too. */
  list(): Promise<string[]>;
  /** Removes every file. */
  empty(): Promise<void>;
  /** Holds it up and lets it go on; absent where it lives in the process of the test. */
  close(): Promise<void>;
}
