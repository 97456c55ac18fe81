import { createRequire } from 'node:module';
import type * as Undici from 'undici';

const require = createRequire(import.meta.url);

/** undici, loaded by the first call: commands such as `check` define the stage and open no connection. */
export function undici(): typeof Undici {
  return require('undici') as typeof Undici;
}
