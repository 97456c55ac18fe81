import type { PageRequest } from '#core/web/pages/page.ts';
import type { FilePlace } from './tool.ts';

export const systems = ['linux', 'macos', 'windows'] as const;
export type System = (typeof systems)[number];

/** The person who reads settings and commands. */
export interface Reader {
  readonly t: PageRequest['t'];
  readonly system: System;
  /** Base URL of the service, from gateway.yaml. */
  readonly baseUrl: string;
  /** Model chosen by the reader; undefined to leave the choice to the script. */
  readonly chosenModel: string | undefined;
}

/** Returns the path of a file in the notation of the system: `~/.x/y`, `%USERPROFILE%\.x\y`. */
export function formatPath(system: System, { path, macos, windows }: FilePlace): string {
  if (system === 'windows') return windows ?? path.replace('~', '%USERPROFILE%').replaceAll('/', '\\');
  return (system === 'macos' ? macos : undefined) ?? path;
}

/** Returns the name of the program for typing commands. */
export function getTerminalName(system: System): string {
  return system === 'windows' ? 'PowerShell' : 'Terminal';
}
