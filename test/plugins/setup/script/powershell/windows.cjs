/*
 * Makes Node.js here look like Node.js on Windows to the program: drive C: is a folder, icacls.exe notes which path is to be
 * protected, and requests have the answers of the test. WINDOWS_MACHINE is the JSON of what the machine is like.
 */
const childProcess = require('node:child_process');
const fs = require('node:fs');
const { join } = require('node:path');

const machine = JSON.parse(process.env.WINDOWS_MACHINE);
delete process.env.WINDOWS_MACHINE;
// windows.cjs PROGRAM WORDS...
process.argv.splice(1, 1);
const program = `data:text/javascript;base64,${fs.readFileSync(process.argv[1], 'base64')}`;
Object.defineProperty(process, 'platform', { value: 'win32' });
process.getuid = undefined;

const isWindows = (path) => typeof path === 'string' && /^[A-Z]:\\/i.test(path);
const real = (path) => (isWindows(path) ? join(machine.root, ...path.slice(3).split('\\')) : path);
const toWindows = (path) =>
  path.startsWith(machine.root) ? `C:${path.slice(machine.root.length).replaceAll('/', '\\')}` : path;
const { appendFileSync } = fs;
const note = (line) => appendFileSync(machine.log, `${line}\n`);

function change(path) {
  if (!isWindows(path)) return;
  if (machine.changes >= machine.lastChange) process.kill(process.pid, 'SIGKILL');
  machine.changes += 1;
  note('change');
}

const changing = ['writeFileSync', 'mkdirSync', 'renameSync', 'rmSync', 'rmdirSync'];
const reading = ['readFileSync', 'statSync', 'lstatSync', 'readdirSync', 'accessSync'];
for (const name of [...changing, ...reading, 'openSync']) {
  const original = fs[name];
  fs[name] = (path, ...rest) => {
    if (changing.includes(name) || (name === 'openSync' && rest[0] !== 'r')) change(path);
    const target = name === 'renameSync' ? rest[0] : path;
    if (machine.held.includes(target) && name !== 'openSync' && changing.includes(name))
      throw Object.assign(new Error('held'), { code: 'EBUSY' });
    return original(real(path), ...(name === 'renameSync' ? [real(rest[0])] : rest));
  };
}
for (const name of ['readlinkSync', 'realpathSync']) {
  const original = fs[name];
  fs[name] = (path) => toWindows(original(real(path)));
}

childProcess.spawnSync = (file, words, { input }) => {
  if (file.endsWith('\\icacls.exe')) {
    note(`protect ${words[0]}`);
    return { status: 0, stdout: '', stderr: '' };
  }
  if (words.at(-1) !== '--request') return { error: Object.assign(new Error('absent'), { code: 'ENOENT' }) };
  const asked = JSON.parse(input.toString());
  const path = new URL(asked.url).pathname;
  note(
    `asked ${JSON.stringify({ method: asked.method, path, authorization: `Bearer ${asked.key}`, body: asked.json })}`,
  );
  const answer = machine.replies[path] ?? machine.replies['*'];
  return { status: 0, stdout: JSON.stringify({ ...answer, location: '' }), stderr: '' };
};
// Nobody waits here.
Atomics.wait = () => 'timed-out';

require('node:module').syncBuiltinESMExports();
import(program);
