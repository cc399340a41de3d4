// The file known_hosts as OpenSSH reads it.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { knownHost } from '../../src/transfer/remote/known-hosts.js';
import { temporaryFolder } from '../support/jobs.js';

const KEY = Buffer.from('a key as the wire has it');
const OTHER = Buffer.from('another');
const key = KEY.toString('base64');
const folder = temporaryFolder('known-hosts');
afterAll(() => folder.remove());

function accepts(text: string, host = 'files.example', port = 22): boolean {
  return knownHost(text, host, port).accepts(KEY);
}

describe('a line', () => {
  it.each([
    [`files.example ssh-ed25519 ${key}`, true],
    [`Files.Example ssh-ed25519 ${key} a comment`, true],
    [`a.example,files.example ssh-ed25519 ${key}`, true],
    [`*.example ssh-ed25519 ${key}`, true],
    [`file?.example ssh-ed25519 ${key}`, true],
    [`*.example,!files.example ssh-ed25519 ${key}`, false],
    [`files.example ssh-ed25519 ${OTHER.toString('base64')}`, false],
    [`other.example ssh-ed25519 ${key}`, false],
    [`files.example.org ssh-ed25519 ${key}`, false],
    [`[files.example]:2222 ssh-ed25519 ${key}`, false],
    [`# files.example ssh-ed25519 ${key}`, false],
    [`@cert-authority files.example ssh-ed25519 ${key}`, false],
    [`files.example ssh-ed25519`, false],
    ['', false],
  ])('%s', (line, isAccepted) => {
    expect(accepts(`# file\n\n${line}\r\n`)).toBe(isAccepted);
  });

  it('of another port names it', () => {
    expect(accepts(`[files.example]:2222 ssh-ed25519 ${key}`, 'files.example', 2222)).toBe(true);
    expect(accepts(`files.example ssh-ed25519 ${key}`, 'files.example', 2222)).toBe(false);
    expect(accepts(`[::1]:2222 ssh-ed25519 ${key}`, '::1', 2222)).toBe(true);
  });

  it('that revokes a key counts before those that know it', () => {
    const known = `files.example ssh-ed25519 ${key}\n`;
    expect(accepts(`${known}@revoked * ssh-ed25519 ${key}\n`)).toBe(false);
    expect(accepts(`${known}@revoked other.example ssh-ed25519 ${key}\n`)).toBe(true);
  });

  it('may hide its host, as ssh-keygen does it', () => {
    const path = join(folder.path, 'known_hosts');
    const pair = join(folder.path, 'key');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', pair]);
    const [type, real] = readFileSync(`${pair}.pub`, 'utf8').split(' ');
    writeFileSync(path, `files.example ${type} ${real}\n[files.example]:2222 ${type} ${real}\n`);
    execFileSync('ssh-keygen', ['-H', '-f', path], { stdio: 'ignore' });
    const hidden = readFileSync(path, 'utf8');
    expect(hidden).not.toContain('files');
    for (const [host, port, isKnown] of [
      ['files.example', 22, true],
      ['files.example', 2222, true],
      ['files.example', 2223, false],
      ['other.example', 22, false],
    ] as const) {
      const found = knownHost(hidden, host, port);
      expect([host, port, found.accepts(Buffer.from(real!, 'base64'))]).toEqual([host, port, isKnown]);
      expect(found.types).toEqual(isKnown ? ['ssh-ed25519'] : []);
    }
  });
});
