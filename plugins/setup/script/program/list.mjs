import { unlessRefused } from '../edit/common.mjs';
import { readFormerTools, readSavedModel } from './former.mjs';
import { machine } from './machine.mjs';
import { expandPath } from './paths.mjs';
import { listFiles, readTools } from './records.mjs';
import { isWindows, formatOption, printable, run, printLine } from './run.mjs';

export function isInstalled({ commands, folders, variants }) {
  if (commands.some((command) => machine.which(command))) return true;
  // On Windows, some tools have their folders elsewhere.
  const files = isWindows
    ? variants[0].actions.filter(({ kind, windows = '' }) => kind === 'file' && /\\.*\\/.test(windows))
    : [];
  const fileFolders = files.map(({ windows }) => windows.slice(0, windows.lastIndexOf('\\')));
  const places = variants[0].actions.filter(({ kind }) => kind === 'place');
  const isFolder = (path) => machine.stat(expandPath(path, places))?.kind === 'folder';
  return [...folders, ...fileFolders].some((folder) =>
    unlessRefused(
      () => isFolder(folder),
      () => false,
    ),
  );
}

export function printList() {
  readFormerTools();
  const tools = readTools('tools');
  printLine(`Tools that can be set up for ${printable(run.data.service)}:\n`);
  for (const tool of run.data.tools) {
    const { id, name, isOnRequest } = tool;
    const states = [];
    if (isInstalled(tool)) states.push('found');
    if (run.moving.has(id)) states.push('interrupted, run the setup again');
    else {
      const model = tools.has(id) && readSavedModel(id);
      if (tools.has(id) || listFiles(id).length > 0) states.push(`set up${model ? ` with ${model}` : ''}`);
      if (run.former.has(id)) states.push('set up under a former name');
    }
    if (isOnRequest) states.push(`only with ${formatOption('tools')} ${id}`);
    printLine(`  ${id.padEnd(14)} ${name.padEnd(22)} ${states.join(', ')}`.trimEnd());
  }
}
