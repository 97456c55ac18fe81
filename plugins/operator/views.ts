import { join } from 'node:path';

const folder = join(import.meta.dirname, '..', '..', 'views');

/** The absolute path of a template: `operator/overview`. */
export function view(name: string): string {
  return join(folder, `${name}.eta`);
}
