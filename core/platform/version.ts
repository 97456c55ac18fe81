import { readFileSync } from 'node:fs';

/** The version of this gateway, as in its package.json: `0.2.0`. */
export const version = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { readonly version: string }
).version;
