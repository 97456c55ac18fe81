import type { PageRequest } from '#core/web/pages/page.ts';
import type { FilePlace } from './tool.ts';

export const systems = ['linux', 'macos', 'windows'] as const;
export type System = (typeof systems)[number];

/** Who reads the settings and commands. */
export interface Reader {
  readonly t: PageRequest['t'];
  readonly system: System;
  /** Base URL of the service, from gateway.yaml. */
  readonly baseUrl: string;
  /** The model that the reader has chosen; undefined to let the script choose. */
  readonly chosenModel: string | undefined;
}

/** Returns the path of a file as the system writes it: `~/.x/y`, `%USERPROFILE%\.x\y`. */
export function formatPath(system: System, { path, macos, windows }: FilePlace): string {
  if (system === 'windows') return windows ?? path.replace('~', '%USERPROFILE%').replaceAll('/', '\\');
  return (system === 'macos' ? macos : undefined) ?? path;
}

/** Returns the name of the program for typing commands. */
export function getTerminalName(system: System): string {
  return system === 'windows' ? 'PowerShell' : 'Terminal';
}
