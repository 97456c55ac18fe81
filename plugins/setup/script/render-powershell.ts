import type { ScriptData } from './script-data.ts';
import { type CarriedFile, carriedFiles, eta, scriptParts } from './render-shell.ts';

/**
 * setup.ps1 for this gateway, in ASCII: Windows PowerShell 5.1 guesses the encoding of what it loads. Reads its parts from disk.
 *
 * @throws Error when a part holds another character, or what would end the text that carries it
 */
export function renderPowershell(data: ScriptData): string {
  const { slug, baseUrl, keyVariable } = data;
  const sources = scriptParts(carriedFiles('ps1', '.ps1'));
  const helpers = [...carriedFiles('edit', '.mjs'), ...carriedFiles('edit', '.py')];
  [...sources, ...helpers].forEach(assertPlain);
  return eta.render('./setup.ps1.eta', {
    slug,
    baseUrl,
    keyVariable,
    data: writePowershellData(data),
    helpers,
    sources,
  });
}

/** The data as one line of JSON in ASCII, which cannot end a here-string. */
export function writePowershellData(data: ScriptData): string {
  return JSON.stringify(data).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function assertPlain({ name, text }: CarriedFile): void {
  if (/[^\n\x20-\x7e]/.test(text)) throw new Error(`${name} is not plain ASCII`);
  if (/^'@/m.test(text)) throw new Error(`${name} has a line that ends a here-string`);
}
