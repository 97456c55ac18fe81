import { ownPath } from '#core/pages/own-path.ts';

/** Where the reader goes after the sign-in; the pages of the sign-in itself would lead in a circle. */
export function nextPath(path: string | undefined): string {
  const own = ownPath(path);
  return /^\/sign-(in|out)(?![\w-])/.test(own) ? '/' : own;
}
