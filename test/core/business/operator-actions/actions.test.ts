import { expect, it } from 'vitest';
import { registeredHere } from '../../../support/registered.ts';

const { actions } = await registeredHere();

it.each([...actions.values()])(
  '$name begins its summary with a verb and describes each input',
  ({ summary, input }) => {
    expect(summary).toMatch(/^[a-z]+ /);
    for (const { description } of Object.values(input.properties)) expect(description).toMatch(/\.$/);
  },
);
