import { hash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { basename, join } from 'node:path';
import { parse } from 'yaml';

/**
 * Every start and most commands read these files, and parsing 40 KB of YAML takes 50 ms of processor time. The result is kept as JSON next
 * to the compiled code, for each version of the file.
 *
 * @param folder where results are kept; undefined to keep none
 */
export function readCachedYaml(file: string, folder: string | undefined = getCompileCacheDir()): unknown {
  const text = readFileSync(file, 'utf8');
  if (folder === undefined) return parse(text);
  const cached = join(folder, `${basename(file)}-${hash('sha256', text)}.json`);
  try {
    return JSON.parse(readFileSync(cached, 'utf8'));
  } catch {
    const value: unknown = parse(text);
    writeCache(cached, value);
    return value;
  }
}

function writeCache(file: string, value: unknown): void {
  // Other processes may read and write the file at the same time.
  const unfinished = `${file}.${process.pid}`;
  try {
    writeFileSync(unfinished, JSON.stringify(value));
    renameSync(unfinished, file);
  } catch {
    // The folder is read-only, full or gone; the next process parses the file again.
  }
}
