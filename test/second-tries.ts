import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Lists the tests that passed only when they were tried again, with what failed before: each is a fault to find. */
export default class SecondTries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const flaky = tests.filter((test) => test.diagnostic()?.flaky);
    if (flaky.length === 0) return;
    console.warn(`\n!! ${flaky.length} of ${tests.length} tests passed only at the second try:`);
    for (const test of flaky) console.warn(describeFlaky(test));
  }
}

function describeFlaky(test: TestCase): string {
  const errors = test.result().errors ?? [];
  // Of a property, the error is the cause of what fast-check says about the counterexample.
  const reasons = errors.map(({ message, cause, diff = cause?.diff ?? '', stacks }) => {
    const [place] = stacks ?? [];
    const where = place === undefined ? '' : `\n   at ${place.file}:${place.line}`;
    return `   ${[message, cause?.message].filter(Boolean).join('\n   ')}${where}${firstLinesOf(diff)}`;
  });
  return [`\n   ${test.module.relativeModuleId} > ${test.fullName}`, ...reasons].join('\n');
}

/** Of a difference that the message cuts short. */
function firstLinesOf(diff: string): string {
  return diff
    .split('\n', 20)
    .map((line) => (line === '' ? '' : `\n   ${line}`))
    .join('');
}
