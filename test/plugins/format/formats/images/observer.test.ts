import { expect, it } from 'vitest';
import { images } from '../../../../../plugins/format/formats/images/descriptor.ts';

const observe = () => images.client.observe({ n: 2 });
const event = (type: string, more: object = {}) => ({
  name: type,
  data: '',
  parse: () => ({ type, ...more }),
});

it('counts the images of an answer, with usage or without', () => {
  const one = observe();
  one.whole({ data: [{}, {}] });
  expect(one.usage).toEqual({ images: 2 });
  const other = observe();
  other.whole({ data: [{}], usage: { input_tokens: 3, output_tokens: 5 } });
  expect(other.usage).toMatchObject({ input: 3, output: 5, images: 1 });
});

it('counts the images that a stream has finished, and no parts of them', () => {
  const observer = observe();
  for (const type of ['image_generation.partial_image', 'image_generation.completed', 'image_generation.completed'])
    observer.event(event(type) as never);
  expect(observer.usage).toEqual({ images: 2 });
});
