/** Where the stream of a page is: `/dashboard/live`. */
export function livePath(path: string): string {
  return path === '/' ? '/live' : `${path}/live`;
}

/** The page of a stream. */
export function pagePath(path: string): string {
  return path.replace(/\/live$/, '') || '/';
}
