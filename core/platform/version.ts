import { readFileSync } from 'node:fs';

/** This gateway's version from package.json, such as `0.2.0`. */
export const version = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { readonly version: string }
).version;
