import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createBrotliDecompress } from 'node:zlib';

/** Chromium as packed in `@sparticuz/chromium`: compressed, with fonts and with the libraries that a bare system lacks. */
export interface Chromium {
  readonly executable: string;
  readonly environment: Readonly<Record<string, string>>;
}

// The package exports neither its package.json nor the archives.
const packageFolder = join(fileURLToPath(import.meta.resolve('@sparticuz/chromium')), '..', '..');
const packed = join(packageFolder, 'bin');

/**
 * Unpacks Chromium into the folder for temporary files, once per version; later calls from any process find it there. If several processes
 * unpack it at the same time, each uses a folder of its own, and the first complete one is kept.
 */
export async function unpackChromium(): Promise<Chromium> {
  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')) as { version: string };
  const folder = join(tmpdir(), `daypass-chromium-${version}`);
  if (!(await exists(folder))) await unpackTo(folder);
  const environment = {
    FONTCONFIG_FILE: join(folder, 'fonts.conf'),
    ...((await exists(join(folder, 'al2023'))) && { LD_LIBRARY_PATH: join(folder, 'al2023', 'lib') }),
  };
  return { executable: join(folder, 'chromium'), environment };
}

async function unpackTo(folder: string): Promise<void> {
  const draft = `${folder}.${process.pid}.${Date.now()}`;
  await mkdir(draft, { recursive: true });
  try {
    const executable = join(draft, 'chromium');
    await pipeline(
      createReadStream(join(packed, 'chromium.br')),
      createBrotliDecompress(),
      createWriteStream(executable, { mode: 0o755 }),
    );
    await untar('fonts', draft);
    await writeFile(join(draft, 'fonts.conf'), createFontConfig(folder));
    if (!(await canRun(executable))) await untar('al2023', join(draft, 'al2023'));
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!(await exists(folder))) throw error;
  }
}

/** The packed font comes first, so that pages are equally wide on every machine. Code is in one of the system's fonts, if it has one. */
function createFontConfig(folder: string): string {
  const aliases = ['system-ui', 'sans-serif'].map(
    (family) => `<alias><family>${family}</family><prefer><family>Open Sans</family></prefer></alias>`,
  );
  return `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<dir>${folder}/fonts</dir><dir>/usr/share/fonts</dir><cachedir>${folder}/fonts-cache</cachedir>${aliases.join('')}
<alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family><family>Liberation Mono</family></prefer></alias>
</fontconfig>
`;
}

/** Uses a file in between: `tar` may end before it has read an archive's padding, which would break a pipe. */
async function untar(name: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const archive = join(folder, `${name}.tar`);
  await pipeline(
    createReadStream(join(packed, `${name}.tar.br`)),
    createBrotliDecompress(),
    createWriteStream(archive),
  );
  await promisify(execFile)('tar', ['-x', '-f', archive, '-C', folder, '--no-same-owner']);
  await rm(archive);
}

async function canRun(executable: string): Promise<boolean> {
  // false if the system lacks a library
  return promisify(execFile)(executable, ['--version'], { timeout: 20_000 }).then(
    () => true,
    () => false,
  );
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
