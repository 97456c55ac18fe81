/** Checks the rules for pages, see `page-check.ts`. */
import { join } from 'node:path';
import { checkPages, readPages } from './page-check.ts';
import { openTree } from './source-tree.ts';

const tree = openTree(join(import.meta.dirname, '..'));
const { mistakes, texts, templates } = checkPages(tree, readPages(tree));
for (const line of mistakes) console.error(line);
if (mistakes.length > 0) process.exit(1);
console.log(`pages: ${texts} texts in 2 languages, ${templates} templates`);
