import type { PageRequest } from '#core/web/pages/page.ts';
import type { FilePlace } from './tool.ts';

export const systems = ['linux', 'macos', 'windows'] as const;
export type System = (typeof systems)[number];

export interface Reader {
  readonly t: PageRequest['t'];
  readonly system: System;
  readonly baseUrl: string;
  readonly chosenModel: string | undefined; // undefined to let the script choose
}

/** Returns a path such as `~/.x/y` or `%USERPROFILE%\.x\y`. */
export function formatPath(system: System, { path, macos, windows }: FilePlace): string {
  if (system === 'windows') return windows ?? path.replace('~', '%USERPROFILE%').replaceAll('/', '\\');
  return (system === 'macos' ? macos : undefined) ?? path;
}

export function getTerminalName(system: System): string {
  return system === 'windows' ? 'PowerShell' : 'Terminal';
}
