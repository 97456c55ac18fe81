import { openDatabase } from '#core/platform/database/open.ts';

/** A gateway, as far as its database goes: opens it, says so, and stays until it is killed or told to stop. */
const [dataFolder = '', mode = 'serve', sharing = 'alone'] = process.argv.slice(2);
const log = { info: () => undefined, warn: console.error, error: console.error };
const database = await openDatabase({
  dataFolder,
  log,
  mode: mode as 'serve' | 'command',
  isShared: sharing === 'shared',
});
process.send?.(database.url);
process.once('disconnect', () => void database[Symbol.asyncDispose]());
