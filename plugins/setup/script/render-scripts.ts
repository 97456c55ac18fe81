import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Eta } from 'eta';
import { asciiJson, writeTable, writeTables } from './launcher-data.ts';
import { programText } from './render-program.ts';
import type { ScriptData } from './script-data.ts';

const here = import.meta.dirname;

/** Scripts are no HTML: what is printed is quoted where it is made. */
const eta = new Eta({
  views: join(here, '..', '..', '..', 'views', 'setup'),
  autoEscape: false,
  autoTrim: [false, false],
});

/** setup.sh for this gateway: the launcher with the program in a here-document. Reads its parts from disk. */
export function renderShell(data: ScriptData): string {
  const program = `${programText()}\nmain_.main(${asciiJson(data)});\n`;
  return eta.render('./setup.sh.eta', {
    ...data,
    tables: writeTables(data),
    launcher: part('setup.sh'),
    withoutRuntime: part('without-runtime.sh'),
    program: hereDocument(program),
  });
}

/**
 * setup.ps1 for this gateway, in ASCII: Windows PowerShell 5.1 guesses the encoding of what it loads. Reads its parts from disk.
 *
 * @throws Error when the program holds another character, or what would end the text that carries it
 */
export function renderPowershell(data: ScriptData): string {
  const program = programText();
  if (/[^\n\x20-\x7e]/.test(program)) throw new Error('the program is not plain ASCII');
  if (/^'@/m.test(program)) throw new Error('the program has a line that ends a here-string');
  return eta.render('./setup.ps1.eta', {
    ...data,
    json: asciiJson(data),
    table: writeTable(data),
    launcher: part('setup.ps1'),
    withoutRuntime: part('without-runtime.ps1'),
    program,
  });
}

/** `<<'DATA'` with the text: a shell expands nothing in it. The delimiter is no line of the text. */
function hereDocument(text: string): string {
  const lines = new Set(text.split('\n'));
  let delimiter = 'DATA';
  while (lines.has(delimiter)) delimiter += '_';
  return `<<'${delimiter}'\n${text.trimEnd()}\n${delimiter}\n`;
}

function part(name: string): string {
  return readFileSync(join(here, 'launcher', name), 'utf8').trimEnd();
}
