/** Object stores: s3rver, which checks signatures, and moto, which knows conditional writes. */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { freePort, openFolder, Program, removeFolder } from './machine.js';
import type { TestServer } from './server.js';

const MOTO = fileURLToPath(new URL('../../../data/python/bin/moto_server', import.meta.url));
const BUCKET = 'products';
const METADATA_ENDING = '._S3rver_metadata.json';

interface S3rver {
  run(): Promise<unknown>;
  close(): Promise<void>;
}

export async function startS3rver(): Promise<TestServer> {
  const folder = openFolder('s3rver');
  const Server = createRequire(import.meta.url)('@20minutes/s3rver') as new (options: object) => S3rver;
  const port = await freePort();
  const server = new Server({
    address: '127.0.0.1',
    port,
    silent: true,
    directory: join(folder, 'store'),
    configureBuckets: [{ name: BUCKET }],
  });
  mkdirSync(join(folder, 'store'));
  await server.run();
  const store = await objectStore(port, 'S3RVER', async () => {
    await server.close();
    removeFolder(folder);
  });
  const bucket = join(folder, 'store', BUCKET);
  // It checks the signature of a listing wrongly. An object that it shows has a file of metadata beside it.
  const list = async (): Promise<string[]> =>
    readdirSync(bucket, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith(METADATA_ENDING))
      .map((name) => name.slice(0, -METADATA_ENDING.length))
      .sort();
  const empty = async (): Promise<void> => {
    for (const name of readdirSync(bucket)) rmSync(join(bucket, name), { recursive: true });
  };
  return { ...store, list, empty };
}

export async function startMoto(): Promise<TestServer> {
  if (!existsSync(MOTO)) throw new Error(`${MOTO} is missing; make test installs it`);
  const port = await freePort();
  const program = new Program(MOTO, ['-H', '127.0.0.1', '-p', String(port)]);
  await program.listening(port);
  return objectStore(port, 'testing', () => program.end());
}

async function objectStore(port: number, secret: string, close: () => Promise<void>): Promise<TestServer> {
  const client = new S3Client({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: secret, secretAccessKey: secret },
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });
  await client.send(new CreateBucketCommand({ Bucket: BUCKET })).catch(() => undefined);
  const keys = async (): Promise<string[]> => {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: BUCKET }));
    return Contents.map(({ Key = '' }) => Key).sort();
  };
  return {
    kind: 's3',
    ports: [port],
    target: (host = '127.0.0.1', at = port) => ({
      endpoint: `${host}:${at}`,
      access_key: secret,
      secret_key: secret,
      bucket: BUCKET,
      prefix: 'in/box',
      path_style: true,
    }),
    read: async (path) => {
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket: BUCKET, Key: path }));
        const pieces: Buffer[] = [];
        for await (const piece of Body as Readable) pieces.push(piece as Buffer);
        return Buffer.concat(pieces);
      } catch {
        return undefined;
      }
    },
    write: async (path, content) => {
      await client.send(new PutObjectCommand({ Bucket: BUCKET, Key: path, Body: content }));
    },
    list: keys,
    empty: async () => {
      for (const Key of await keys()) await client.send(new DeleteObjectCommand({ Bucket: BUCKET, Key }));
    },
    close: async () => {
      client.destroy();
      await close();
    },
  };
}
