// Chromium fetches nothing while it converts (contract U2), and takes no file of this machine into a document. The walls
// of the kernel are left out here: what is tested is what holds where they are not allowed. Chromium by itself does all
// of it, which is shown too.
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ChromiumEngine, findChrome } from '../../src/convert/engines/chromium.js';
import { markdownPage } from '../../src/convert/markdown/page.js';
import { temporaryFolder } from '../support/jobs.js';
import { convertBytes, pdfImages, pdfText } from '../support/office.js';
import { archive, PIXEL } from '../support/web.js';

const CHROME = findChrome('') as string;
const SECRET = 'a secret of this machine';

let folder: { path: string; remove(): void };
let canary: Server;
/** Connections count, not requests alone: a preconnect would be one. */
let hits: string[];
let engine: ChromiumEngine;
let web: string;
let file: string;

beforeAll(async () => {
  folder = temporaryFolder('chromium-network');
  writeFileSync(join(folder.path, 'secret.png'), Buffer.from(PIXEL, 'base64'));
  writeFileSync(join(folder.path, 'secret.txt'), SECRET);
  writeFileSync(join(folder.path, 'secret.html'), `<p>${SECRET}`);
  writeFileSync(join(folder.path, 'secret.css'), `body::after { content: "${SECRET}" }`);
  canary = createServer((request, response) => {
    hits.push(`${request.method} ${request.url}`);
    response.end();
  });
  canary.on('connection', () => hits.push('connection'));
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
  web = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`;
  file = `file://${folder.path}`;
  const profileRoot = join(folder.path, 'profiles');
  mkdirSync(profileRoot);
  engine = new ChromiumEngine({
    program: CHROME,
    noSandbox: false,
    profileRoot,
    fontDirs: [],
    isolation: { prefix: [], hasNoNetwork: false, hasOwnProcesses: false },
  });
});
beforeEach(() => {
  hits = [];
});
afterAll(async () => {
  await engine.close();
  canary.closeAllConnections();
  canary.close();
  folder.remove();
});

/** Every way to ask for something, from `place`. */
const asking = (place: string): string => `
  <base href="${place}/base/">
  <link rel="stylesheet" href="${place}/secret.css">
  <link rel="preload" as="image" href="${place}/preload.png">
  <link rel="prefetch" href="${place}/prefetch">
  <link rel="preconnect" href="${place}/">
  <link rel="dns-prefetch" href="//prefetch.example">
  <link rel="icon" href="${place}/icon.png">
  <link rel="manifest" href="${place}/manifest.json">
  <link rel="modulepreload" href="${place}/module.js">
  <meta http-equiv="Content-Security-Policy" content="img-src 'none'; report-uri ${place}/report">
  <style>
    @import url("${place}/import.css");
    @font-face { font-family: far; src: url("${place}/font.woff2") }
    body { background: url("${place}/background.png"); font-family: far; cursor: url("${place}/cursor.png"), auto }
    li { list-style-image: url("${place}/list.png") }
    p::before { content: url("${place}/content.png") }
    p { mask-image: url("${place}/mask.svg#m"); border-image-source: url("${place}/border.png") }
  </style>
  <p>words</p><ul><li>item</li></ul>
  <img src="${place}/secret.png"><img srcset="${place}/set.png 2x"><img loading="lazy" src="${place}/lazy.png">
  <picture><source srcset="${place}/source.webp"><img src="${place}/picture.png"></picture>
  <input type="image" src="${place}/input.png">
  <video src="${place}/video.mp4" poster="${place}/poster.png" autoplay></video><audio src="${place}/audio.mp3" autoplay></audio>
  <object data="${place}/secret.html"></object><embed src="${place}/secret.html">
  <iframe src="${place}/secret.html"></iframe>
  <iframe src="${place}/secret.txt"></iframe>
  <iframe srcdoc="<img src='${place}/inner.png'><iframe src='${place}/secret.html'></iframe>"></iframe>
  <svg width="50" height="50"><image href="${place}/secret.png" width="9" height="9"/><use href="${place}/use.svg#a"/>
    <filter id="f"><feImage href="${place}/filter.png"/></filter><rect width="9" height="9" filter="url(#f)" fill="url(${place}/fill.svg#g)"/>
    <foreignObject width="9" height="9"><img src="${place}/foreign.png"></foreignObject>
    <style>@import url("${place}/svg.css");</style></svg>
  <script src="${place}/script.js"></script>
  <script>new Image().src = "${place}/image.png"; fetch("${place}/fetch"); new WebSocket("${place.replace('http', 'ws')}/socket"); navigator.sendBeacon("${place}/beacon"); location = "${place}/location"</script>`;

const page = (body: string): string => `<!doctype html><meta charset="utf-8">${body}`;
const refresh = (place: string): string => `<meta http-equiv="refresh" content="0;url=${place}/secret.html">`;

const DOCUMENTS: readonly (readonly [what: string, name: string, make: () => string])[] = [
  ['a page that asks the web', 'a.html', () => page(asking(web))],
  ['a page that asks this machine', 'a.html', () => page(asking(file))],
  ['a page that leads to the web', 'a.html', () => page(`${refresh(web)}<p>words`)],
  ['a page that leads to a file', 'a.html', () => page(`${refresh(file)}<p>words`)],
  [
    'a page in data',
    'a.html',
    () => page(`<p>words<iframe src="data:text/html;base64,${Buffer.from(asking(web)).toString('base64')}"></iframe>`),
  ],
  [
    'a picture in data',
    'a.html',
    () =>
      page(
        `<p>words<img src="data:image/svg+xml;base64,${Buffer.from(
          `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="${web}/in-svg.png" width="9" height="9"/><style>@import url("${web}/in-svg.css");</style></svg>`,
        ).toString('base64')}">`,
      ),
  ],
  ['an archive that asks the web', 'a.mhtml', () => archive({ html: page(asking(web)) })],
  ['an archive that asks this machine', 'a.mhtml', () => archive({ html: page(asking(file)) })],
  ['an archive that leads to the web', 'a.mhtml', () => archive({ html: page(`${refresh(web)}<p>words`) })],
  ['an archive that leads to a file', 'a.mhtml', () => archive({ html: page(`${refresh(file)}<p>words`) })],
  [
    'an archive whose parts ask',
    'a.mhtml',
    () =>
      archive({
        html: page(
          '<link rel="stylesheet" href="https://example.com/a.css"><p>words<iframe src="cid:frame@a"></iframe>',
        ),
        parts: [
          [
            'text/css',
            'Content-Location: https://example.com/a.css',
            Buffer.from(`@import url("${web}/a.css"); p { background: url("${web}/b.png") }`),
          ],
          [
            'text/html',
            'Content-ID: <frame@a>\r\nContent-Location: https://example.com/frame',
            Buffer.from(asking(web)),
          ],
        ],
      }),
  ],
  [
    'Markdown',
    'a.html',
    () => markdownPage(`words ![a](${web}/a.png) ![b](${file}/secret.png) <img src="${web}/c.png">`, () => undefined),
  ],
];

describe('nothing is fetched and nothing of this machine is taken', () => {
  it.each(DOCUMENTS)('by %s', async (_what, name, make) => {
    const made = await convertBytes(engine, folder.path, name, make());
    // What was begun would arrive.
    await sleep(300);
    const text = pdfText(made.path);
    expect(text).toContain('words');
    expect(text).not.toContain(SECRET);
    // Those that stand for broken ones are larger.
    expect(pdfImages(made.path)).not.toContain('1x1');
    expect(hits).toEqual([]);
  });

  it('and the job says what was left out', async () => {
    const made = await convertBytes(
      engine,
      folder.path,
      'a.html',
      page(`<img src="${web}/a.png"><style>@import "${web}/b.css";</style>`),
    );
    expect(made.warnings).toEqual([
      { code: 'resource_blocked', message: `style ${web}/b.css is not in the document and was not fetched` },
      { code: 'resource_blocked', message: `img ${web}/a.png is not in the document and was not fetched` },
    ]);
    expect(made.log).toContain(`refused: img ${web}/a.png`);
  });
});

it('Chromium by itself fetches, runs scripts and prints files of this machine', async () => {
  const work = join(folder.path, 'itself');
  mkdirSync(work);
  writeFileSync(
    join(work, 'a.html'),
    page(
      `<p>words<img src="${web}/a.png"><img src="${file}/secret.png"><svg><image href="${web}/b.png" width="9" height="9"/></svg>
       <iframe src="${file}/secret.html"></iframe><script>document.write("written")</script>`,
    ),
  );
  const pdf = join(work, 'output.pdf');
  await new Promise((resolve) =>
    execFile(
      CHROME,
      [
        ...['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${work}/profile`],
        ...[`--print-to-pdf=${pdf}`, `file://${work}/a.html`],
      ],
      // Its socket would stay in the machine's own folder.
      { timeout: 60_000, cwd: work, env: { ...process.env, TMPDIR: '/proc/self/cwd' } },
      resolve,
    ),
  );
  expect(hits).toContain('GET /a.png');
  expect(hits).toContain('GET /b.png');
  expect(pdfText(pdf)).toContain(SECRET);
  expect(pdfText(pdf)).toContain('written');
  expect(pdfImages(pdf)).toContain('1x1');
});
