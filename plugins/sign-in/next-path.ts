import { ownPath, wellKnownPaths } from '#core/web/pages/paths.ts';

/** Path after a sign-in if the reader requested no page. */
export const homePath = wellKnownPaths.dashboard;

/** Returns the path after a sign-in; excludes the sign-in pages, which would cause a loop. */
export function chooseNextPath(path: string | undefined): string {
  const page = ownPath(path);
  return page === '/' || /^\/sign-(in|out)(?![\w-])/.test(page) ? homePath : page;
}
