/**
 * What the image and the manifests promise (contract D3): they agree with each other and with the configuration that they
 * carry, and the service runs as they run it: any uid of group 0, a root that takes no writes, three volumes.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { copyOfBuild } from '../support/daemon.js';
import { temporaryFolder } from '../support/jobs.js';
import { KEY, until } from '../support/service.js';
import { unitEnvironment } from '../support/unit.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (name: string): string => readFileSync(join(root, name), 'utf8');

interface Instruction {
  readonly name: string;
  readonly text: string;
}

const instructions: readonly Instruction[] = textOf('Dockerfile')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => {
    const [, name = '', text = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    return { name, text };
  });

function lastOf(name: string): string {
  return instructions.filter((instruction) => instruction.name === name).at(-1)?.text ?? '';
}

const volumes = JSON.parse(lastOf('VOLUME')) as string[];
const config = JSON.parse(textOf('docker-config.json')) as Record<string, string>;

describe('the image', () => {
  it('keeps everything that the service writes on its volumes', () => {
    expect(volumes).toHaveLength(3);
    for (const path of [dirname(config.db_path!), config.output_dir!, config.temp_dir!]) {
      expect(volumes.some((volume) => `${path}/`.startsWith(`${volume}/`))).toBe(true);
    }
  });

  it('runs as a user without rights, in group 0, under an init, and is asked by the program itself', () => {
    expect(lastOf('USER')).toBe('10001:0');
    expect(lastOf('ENTRYPOINT')).toBe('["tini", "--", "ofd-server"]');
    expect(lastOf('CMD')).toBe('["-c", "/etc/ofd-server/config.json"]');
    expect(lastOf('HEALTHCHECK')).toMatch(/CMD \["ofd-server", "healthcheck"\]$/);
    expect(lastOf('EXPOSE')).toBe(config.listen!.slice(1));
  });

  it('is made of files that are there and that reach the build', () => {
    const sent = textOf('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    const copied = instructions
      .filter(({ name, text }) => name === 'COPY' && !text.startsWith('--from'))
      .flatMap(({ text }) => text.split(' ').slice(0, -1));
    expect(copied).toContain('src');
    for (const file of copied) {
      expect(existsSync(join(root, file)), file).toBe(true);
      expect(sent).toContain(file);
    }
  });

  it('has a Node.js that package.json allows, at the same place in every stage', () => {
    const [, version = ''] = /NODE_VERSION=(\S+)/.exec(textOf('Dockerfile')) ?? [];
    const [, least = ''] = />=(\S+)/.exec(JSON.parse(textOf('package.json')).engines.node as string) ?? [];
    expect(version.localeCompare(least, 'en', { numeric: true })).toBeGreaterThanOrEqual(0);
  });

  it('carries no key and does not start without one', () => {
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(root, 'dist/main.js'), '-c', join(root, 'docker-config.json')],
      { encoding: 'utf8', env: { PATH: process.env.PATH } },
    );
    expect([status, stderr]).toEqual([2, expect.stringContaining('api_key')]);
  });
});

describe('the manifests', () => {
  const compose = parse(textOf('deploy/compose.yaml')).services['ofd-server'];
  const documents = parseAllDocuments(textOf('deploy/kubernetes.yaml')).map((document) => document.toJS());
  const pod = documents.find(({ kind }) => kind === 'Deployment').spec.template.spec;
  const [container] = pod.containers;

  it('mount every volume of the image and nothing else for good', () => {
    expect(compose.volumes.map((volume: string) => volume.split(':')[1])).toEqual(volumes);
    const mounted = container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);
    expect(mounted).toEqual(expect.arrayContaining(volumes));
  });

  it('take all rights away and leave time for a graceful end', () => {
    expect(compose).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(pod.securityContext).toMatchObject({ runAsUser: 10001, runAsGroup: 0, runAsNonRoot: true });
    expect(Number.parseInt(compose.stop_grace_period, 10)).toBeGreaterThan(30);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(30);
  });

  it('ask the routes that exist, on the port that is open', () => {
    const port = Number(lastOf('EXPOSE'));
    expect(container.ports).toEqual([{ name: 'http', containerPort: port }]);
    expect(compose.ports).toEqual([`${port}:${port}`]);
    expect(container.readinessProbe.httpGet.path).toBe('/readyz');
    expect(container.livenessProbe.httpGet.path).toBe('/healthz');
    // What fails ends the pod: a service that waits for room still gives out its products.
    expect(container.startupProbe.httpGet.path).toBe('/healthz');
  });

  it('the unit of systemd is one that systemd takes', () => {
    const unit = textOf('deploy/ofd-server.service');
    // Both say to libuv and glibc what only the environment can say.
    const variables = unitEnvironment(root);
    expect(variables).toEqual(expect.arrayContaining(['UV_THREADPOOL_SIZE=16', 'MALLOC_ARENA_MAX=2']));
    expect(lastOf('ENV').split(/\s+/)).toEqual(variables);
    // A user that systemd makes up for each start could be given no file with a secret.
    expect(unit).toMatch(/^User=ofd-server$/m);
    expect(unit).not.toContain('DynamicUser');
    expect(unit).toMatch(/^ExecReload=\/bin\/kill -HUP \$MAINPID$/m);
    expect(unit).toMatch(/^ExecStart=\/usr\/bin\/node \/opt\/ofd-server\/dist\/main\.js -c /m);
  });
});

/** Runs the service as the image does: in a mount namespace where the root is read-only and the volumes are empty. */
const IN_NAMESPACE = `
set -e
mount --make-rprivate /
mount --bind "$PROGRAM" /mnt
mount --bind "$MODULES" /mnt/node_modules
for folder in /tmp /var/lib /var/log /var/tmp; do mount -t tmpfs -o mode=1777 tmpfs $folder; done
for folder in /var/lib /var/log /var/tmp; do install -d -o 10001 -g 0 -m 0770 $folder/ofd-server; done
mount -o remount,ro,bind /
mount -o remount,ro,bind /mnt
cd /
exec setpriv --reuid "$AS_UID" --regid 0 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all "$NODE" "$@"
`;

function inNamespace(program: string, uid: number, environment: Record<string, string>, args: string[]): ChildProcess {
  return spawn('unshare', ['--mount', 'sh', '-c', IN_NAMESPACE, 'sh', ...args], {
    env: {
      PATH: process.env.PATH,
      PROGRAM: program,
      MODULES: join(root, 'node_modules'),
      NODE: process.execPath,
      AS_UID: String(uid),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

describe.each([10001, 54321])('as uid %i on a read-only root', (uid) => {
  const folder = temporaryFolder(`container-${uid}`);
  const program = join(folder.path, 'program');
  let child: ChildProcess;
  let url = '';
  let output = '';

  beforeAll(async () => {
    copyOfBuild(program);
    copyFileSync(join(root, 'docker-config.json'), join(program, 'config.json'));
    rmSync(join(program, 'node_modules'));
    mkdirSync(join(program, 'node_modules'));
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const environment = { OFD_SERVER_API_KEY: KEY, OFD_SERVER_LISTEN: `127.0.0.1:${port}`, UV_THREADPOOL_SIZE: '16' };
    child = inNamespace(program, uid, environment, ['/mnt/dist/main.js', '-c', '/mnt/config.json']);
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (bytes: Buffer) => {
        output += bytes;
      });
    }
    await until(
      async () => child.exitCode !== null || (await fetch(`${url}/readyz`).catch(() => undefined))?.ok,
      Boolean,
    );
    if (child.exitCode !== null) throw new Error(output);
  });

  afterAll(async () => {
    if (child.exitCode === null) {
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
    }
    folder.remove();
  });

  it('converts and stores', async () => {
    const headers = { authorization: `Bearer ${KEY}` };
    const body = readFileSync(join(root, 'examples/invoice.ofd'));
    const pdf = await fetch(`${url}/v1/convert?to=pdf`, { method: 'POST', headers, body });
    expect([pdf.status, Buffer.from(await pdf.arrayBuffer()).toString('latin1', 0, 5)]).toEqual([200, '%PDF-']);
    const job = await (
      await fetch(`${url}/v1/convert?to=png&output.kind=dir`, { method: 'POST', headers, body })
    ).json();
    const ended = await until(
      async () => (await fetch(`${url}/v1/jobs/${(job as { id: string }).id}?wait=5s`, { headers })).json(),
      (answer) => !['queued', 'running'].includes((answer as { state: string }).state),
    );
    expect(ended, JSON.stringify(ended)).toMatchObject({
      state: 'succeeded',
      output: { path: expect.stringMatching(/^\/var\/lib\/ofd-server\/out\//) },
    });
  });

  it('is found well by its own question, and its end is graceful', async () => {
    const { status } = spawnSync(
      process.execPath,
      [join(root, 'dist/main.js'), 'healthcheck', '-c', join(root, 'docker-config.json')],
      // Neither the key nor anything else of the service is needed to ask.
      { env: { OFD_SERVER_LISTEN: url.slice('http://'.length) } },
    );
    expect(status).toBe(0);
    child.kill('SIGTERM');
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
    expect(
      spawnSync(process.execPath, [join(root, 'dist/main.js'), 'healthcheck', '-c', join(root, 'docker-config.json')], {
        env: { OFD_SERVER_API_KEY: KEY, OFD_SERVER_LISTEN: url.slice('http://'.length) },
      }).status,
    ).toBe(1);
  });
});
