import { ownPath, wellKnownPaths } from '#core/web/pages/paths.ts';

export const homePath = wellKnownPaths.dashboard; // if the reader requested no page

/** Never a sign-in page, which would cause a loop. */
export function chooseNextPath(path: string | undefined): string {
  const page = ownPath(path);
  return page === '/' || /^\/sign-(in|out)(?![\w-])/.test(page) ? homePath : page;
}
