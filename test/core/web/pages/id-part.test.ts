import { Eta } from 'eta';
import { expect, it } from 'vitest';
import { viewsFolder } from '#core/web/pages/views.ts';

const eta = new Eta({ views: viewsFolder, autoEscape: true });

/** The parts of an identifier, of which the first may be cut. */
function partsOf(id: string): string[] {
  const html = eta.render('/parts/id', { id });
  return [...html.matchAll(/<span>([^<]*)<\/span>/g)].map(([, part = '']) => part);
}

it.each([
  ['rp-14-letters0', ['rp-14-letters0']],
  ['openai/gpt-6-sol', ['openai/g', 'pt-6-sol']],
  ['rani@example.com', ['rani@exam', 'ple.com']],
  ['mammamia@warmmilk.com', ['mammamia@warmm', 'ilk.com']],
  ['WWWWWWWWWWWWWWWW', ['WWWWWWWWWWWW', 'WWWW']],
  ['模型模型模型模型模型模型模型模型', ['模型模型模型模型模型模型模', '型模型']],
])('the tail of %s has at most the width of eight digits', (id, parts) => {
  expect(partsOf(id)).toEqual(parts);
});
