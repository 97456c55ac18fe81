import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { bounds } from '#core/platform/bounds.ts';

export interface UnusableFile {
  readonly wrong: string;
  readonly right: string;
  readonly isMissing: boolean;
}

export type SecretFile = { readonly value: string } | UnusableFile;

const reasonsByCode: Readonly<Record<string, readonly [wrong: string, right: string]>> = {
  ENOENT: ['does not exist', 'create it, or give a default: ${file:…:-…}'],
  ENOTDIR: ['does not exist', 'create it, or give a default: ${file:…:-…}'],
  EACCES: ['cannot be read (permission denied)', 'give the user of the gateway read permission'],
};

/**
 * Reads a secret the way Docker, Kubernetes and systemd provide them: one file per secret. Trailing line breaks are removed, because
 * editors and `echo` add one. Every reload reads the file again, so that a secret can be replaced without a restart.
 *
 * @param path absolute path, or path relative to gateway.yaml
 * @param configFile path of gateway.yaml
 */
export function readSecretFile(path: string, configFile: string): SecretFile {
  const file = resolveSecretPath(path, configFile);
  try {
    return readSecretText(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
    const [wrong, right] = reasonsByCode[code] ?? [`cannot be read (${code})`, 'give the gateway read permission'];
    return { wrong: `the file ${file} ${wrong}`, right, isMissing };
  }
}

export function resolveSecretPath(path: string, configFile: string): string {
  return resolve(dirname(configFile), path);
}

function readSecretText(file: string): SecretFile {
  // Non-blocking, because opening a named pipe would wait for someone to write to it.
  const handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const reject = (wrong: string, right: string) => ({
      wrong: `the file ${file} ${wrong}`,
      right,
      isMissing: false,
    });
    const stats = fstatSync(handle);
    if (!stats.isFile()) return reject('is not a regular file', 'name a file that contains only the secret');
    if (stats.size > bounds.secretFile)
      return reject(`is longer than ${bounds.secretFile} bytes`, 'name a file that contains only the secret');
    const bytes = readFileSync(handle);
    if (!isUtf8(bytes) || bytes.includes(0)) return reject('is not text', 'save only the secret, as UTF-8');
    const value = bytes
      .toString('utf8')
      .replace(/^\uFEFF/, '')
      .replace(/[\r\n]+$/, '');
    return value === '' ? reject('is empty', 'write the secret into it') : { value };
  } finally {
    closeSync(handle);
  }
}
