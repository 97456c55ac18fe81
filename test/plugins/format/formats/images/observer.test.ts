import { expect, it } from 'vitest';
import { images } from '../../../../../plugins/format/formats/images/descriptor.ts';

const observe = () => images.client.createObserver({ n: 2 });
const event = (type: string, more: object = {}) => ({
  name: type,
  data: '',
  parse: () => ({ type, ...more }),
});

it('counts the images of an answer, with usage or without', () => {
  const one = observe();
  one.observeReply({ data: [{}, {}] });
  expect(one.usage).toEqual({ images: 2 });
  const other = observe();
  other.observeReply({ data: [{}], usage: { input_tokens: 3, output_tokens: 5 } });
  expect(other.usage).toMatchObject({ input: 3, output: 5, images: 1 });
});

it('counts the images that a stream has finished, and no parts of them', () => {
  const observer = observe();
  for (const type of ['image_generation.partial_image', 'image_generation.completed', 'image_generation.completed'])
    observer.observeEvent(event(type) as never);
  expect(observer.usage).toEqual({ images: 2 });
});
