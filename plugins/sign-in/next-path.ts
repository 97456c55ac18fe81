import { ownPath, wellKnownPaths } from '#core/web/pages/paths.ts';

/** Where a reader goes who was going nowhere else. */
export const homePath = wellKnownPaths.dashboard;

/** Where the reader goes after the sign-in; the pages of the sign-in itself would lead in a circle. */
export function nextPath(path: string | undefined): string {
  const own = ownPath(path);
  return own === '/' || /^\/sign-(in|out)(?![\w-])/.test(own) ? homePath : own;
}
