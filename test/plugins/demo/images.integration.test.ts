import { inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { DemoFixture } from './fixture.ts';

const demo = new DemoFixture();

describe('images', () => {
  it('draws a PNG of the size that was asked for', async () => {
    const answer = await demo.openai.images.generate({ model: 'chatty', prompt: 'a cat', size: '1024x1024', n: 2 });
    expect(answer.data).toHaveLength(2);
    expect(answer.data!.map(({ b64_json: data }) => readPng(data!))).toEqual(
      answer.data!.map(() => ({ width: 1024, height: 1024, bytes: 1025 * 1024 })),
    );
    expect(answer).toMatchObject({ output_format: 'png', size: '1024x1024' });
    expect(answer.usage!.total_tokens).toBe(answer.usage!.input_tokens + answer.usage!.output_tokens);
  });

  it('draws smaller what would be too large, and says so', async () => {
    const answer = await demo.openai.images.generate({ model: 'chatty', prompt: 'a cat', size: '1536x1024' });
    expect(answer.size).toBe('1024x1024');
  });

  it('draws the same picture for the same prompt only', async () => {
    expect(await draw('a cat')).toBe(await draw('a cat'));
    expect(await draw('a cat')).not.toBe(await draw('a dog'));
    expect(readPng(await draw('a cat'))).toMatchObject({ width: 256, height: 256 });
  });

  it('streams pictures that are not finished, and then the one that is', async () => {
    const params = { model: 'chatty', prompt: 'a cat' };
    const stream = await demo.openai.images.generate({ ...params, stream: true, partial_images: 2 });
    const events = await Array.fromAsync(stream);
    expect(events.map(({ type }) => type)).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
    ]);
    const whole = await demo.openai.images.generate(params);
    expect(events.at(-1)!.b64_json).toBe(whole.data![0]!.b64_json);
    expect(new Set(events.map(({ b64_json: data }) => data)).size).toBe(3);
  });

  it.each([
    ['no prompt', {}],
    ['too many', { prompt: 'x', n: 11 }],
    ['no size', { prompt: 'x', size: 'huge' }],
    ['several streams', { prompt: 'x', n: 2, stream: true }],
  ])('refuses %s with 400', async (_, body) => {
    const answer = await demo.post('/v1/images/generations', { model: 'chatty', ...body });
    expect(answer.status).toBe(400);
  });
});

async function draw(prompt: string): Promise<string> {
  return (await demo.openai.images.generate({ model: 'chatty', prompt })).data![0]!.b64_json!;
}

/** What the header says, and how many bytes of pixels there are. */
function readPng(base64: string): { width: number; height: number; bytes: number } {
  const png = Buffer.from(base64, 'base64');
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  const start = png.indexOf('IDAT');
  const data = png.subarray(start + 4, start + 4 + png.readUInt32BE(start - 4));
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20), bytes: inflateSync(data).length };
}
