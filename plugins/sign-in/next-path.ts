import { ownPath, wellKnownPaths } from '#core/web/pages/paths.ts';

/** Path after a sign-in if the reader requested no page. */
export const homePath = wellKnownPaths.dashboard;

/** Returns the path after a sign-in; excludes the sign-in pages, which would cause a loop. */
export function nextPath(path: string | undefined): string {
  const own = ownPath(path);
  return own === '/' || /^\/sign-(in|out)(?![\w-])/.test(own) ? homePath : own;
}
