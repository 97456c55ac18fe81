import { join } from 'node:path';

/** Templates, styles and browser scripts: a folder for each plugin, `shell/` and `parts/`. */
export const viewsFolder = join(import.meta.dirname, '..', '..', '..', 'views');

/** The absolute path of a file in `views/`: `status/page.eta`. */
export function viewPath(path: string): string {
  return join(viewsFolder, path);
}
