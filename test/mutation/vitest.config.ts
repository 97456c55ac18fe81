import { join } from 'node:path';
import { mergeConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import base from '../vitest.config.ts';

const root = join(import.meta.dirname, '../..');
const order = (process.env['MUTATION_TESTS'] ?? '').split(' ').map((file) => join(root, file));

/** Runs the fastest tests first, in the order that `npm run mutation` gives. */
class GivenOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => order.indexOf(a.moduleId) - order.indexOf(b.moduleId));
  }
}

export default mergeConfig(base, {
  test: { maxWorkers: 1, reporters: ['json'], sequence: { sequencer: GivenOrder } },
});
