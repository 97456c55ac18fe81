import { ownPath, wellKnownPaths } from '#core/web/pages/paths.ts';

/** Where to go after a sign-in if the reader requested no page. */
export const homePath = wellKnownPaths.dashboard;

/** Returns where to go after a sign-in. Never a sign-in page, which would cause a loop. */
export function chooseNextPath(path: string | undefined): string {
  const page = ownPath(path);
  return page === '/' || /^\/sign-(in|out)(?![\w-])/.test(page) ? homePath : page;
}
