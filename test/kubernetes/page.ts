import { ok } from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

const page = await readFile(new URL('../../docs/kubernetes.md', import.meta.url), 'utf8');

/** Command lines of docs/kubernetes.md that need more than a control plane, by what they need. */
export const outOfReach: readonly { readonly command: RegExp; readonly needs: string }[] = [
  { command: /^podman /, needs: 'a registry; `npm run containers` builds the image' },
  { command: /^kubectl (-n daypass )?(exec|logs|port-forward) /, needs: 'a kubelet and a container' },
];

/** Command lines of docs/kubernetes.md, without their comments: of its code blocks, its sentences and the columns of its tables. */
export function documentedCommands(): string[] {
  const blocks = [...page.matchAll(/^ {4}((?:kubectl|podman|cp) .*)$/gm)].map(([, line = '']) =>
    line.replace(/ {2,}# .*/, ''),
  );
  const sentences = [...page.matchAll(/`(kubectl [^`]+)`/g)].map(([, line = '']) => line);
  // "`kubectl -n daypass …` shows" stands above this column.
  const columns = [...page.matchAll(/`((?:get|logs) [^`]+)`: /g)].map(([, line = '']) => `kubectl -n daypass ${line}`);
  const whole = [...blocks, ...sentences, ...columns].map((line) => line.trim());
  return [...new Set(whole.filter((line) => !line.includes('…')))];
}

/** A command of the page, to be run as it is written there. @throws AssertionError when the page has another one */
export function documented(command: string): string {
  ok(page.includes(command), `docs/kubernetes.md does not have: ${command}`);
  return command;
}

/** Commands of the page that are in none of those that ran, and that nothing keeps from running. */
export function commandsNotRun(ran: readonly string[]): string[] {
  const lines = ran.map(plain);
  return documentedCommands().filter((line) => {
    if (outOfReach.some(({ command }) => command.test(line))) return false;
    const escaped = plain(line).replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    const pattern = new RegExp(escaped.replaceAll(/\b(NODE|NAME)\b/g, String.raw`\S+`));
    return !lines.some((one) => pattern.test(one));
  });
}

const plain = (line: string): string => line.replaceAll('-n daypass ', '').replaceAll(/\s+/g, ' ');
