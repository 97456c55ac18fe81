import { unlessRefused } from '../edit/common.mjs';
// Lists the tools, and which of them are on this machine or set up.
import { readFormer, savedModel } from './former.mjs';
import { machine } from './machine.mjs';
import { expand } from './paths.mjs';
import { listFiles, readTools } from './records.mjs';
import { isWindows, option, printable, run, say } from './run.mjs';

/** A program of it on the path, or its folder. */
export function isInstalled({ commands, folders, variants }) {
  if (commands.some((command) => machine.find(command))) return true;
  // On Windows, some tools have their folders elsewhere.
  const files = isWindows
    ? variants[0].actions.filter(({ kind, windows = '' }) => kind === 'file' && /\\.*\\/.test(windows))
    : [];
  const own = files.map(({ windows }) => windows.slice(0, windows.lastIndexOf('\\')));
  const places = variants[0].actions.filter(({ kind }) => kind === 'place');
  const isFolder = (path) => machine.look(expand(path, places))?.kind === 'folder';
  return [...folders, ...own].some((folder) =>
    unlessRefused(
      () => isFolder(folder),
      () => false,
    ),
  );
}

export function list() {
  readFormer();
  const tools = readTools('tools');
  say(`Tools that can be set up for ${printable(run.data.service)}:\n`);
  for (const tool of run.data.tools) {
    const { id, name, isOnRequest } = tool;
    const states = [];
    if (isInstalled(tool)) states.push('found');
    if (run.moving.has(id)) states.push('interrupted, run the setup again');
    else {
      const model = tools.has(id) && savedModel(id);
      if (tools.has(id) || listFiles(id).length > 0) states.push(`set up${model ? ` with ${model}` : ''}`);
      if (run.former.has(id)) states.push('set up under a former name');
    }
    if (isOnRequest) states.push(`only with ${option('tools')} ${id}`);
    say(`  ${id.padEnd(14)} ${name.padEnd(22)} ${states.join(', ')}`.trimEnd());
  }
}
