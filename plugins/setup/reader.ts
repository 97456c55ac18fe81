import type { PageRequest } from '#core/web/pages/page.ts';
import type { FilePlace } from './tool.ts';

/** Systems whose files and shells differ. */
export const systems = ['linux', 'macos', 'windows'] as const;
export type System = (typeof systems)[number];

/** The reader of settings and commands. */
export interface Reader {
  readonly t: PageRequest['t'];
  readonly system: System;
  /** Base URL of the service, as gateway.yaml has it. */
  readonly baseUrl: string;
  /** The model that the reader has chosen; undefined leaves the choice to the script. */
  readonly chosenModel: string | undefined;
}

/** The path of a file on a system, as its users write it: `~/.x/y`, `%USERPROFILE%\.x\y`. */
export function pathOn(system: System, { path, macos, windows }: FilePlace): string {
  if (system === 'windows') return windows ?? path.replace('~', '%USERPROFILE%').replaceAll('/', '\\');
  return (system === 'macos' ? macos : undefined) ?? path;
}

/** The name of the program in which commands are typed. */
export function terminalOn(system: System): string {
  return system === 'windows' ? 'PowerShell' : 'Terminal';
}
