import type { JsonObject, JsonValue } from '#core/json.ts';
import type { Answer, StreamEvent } from './answer.ts';
import { errorBody } from './error-body.ts';
import { createIdentity } from './identity.ts';
import { drawPicture, type Size } from './picture.ts';
import { BadRequest, readLimit, readModel } from './prompt.ts';
import { countTokens } from './tokens.ts';

const maxPictures = 10;
const maxPartials = 3;
const longestSide = 1024; // pixels
const defaultSide = 256;

/** Images: PNGs that say DEMO, whichever output format was asked for. Source: OpenAI API reference, "Images". */
export async function answerImages(body: JsonObject): Promise<Answer> {
  const { prompt } = body;
  if (typeof prompt !== 'string' || prompt === '')
    throw new BadRequest('prompt is missing; say what to draw', 'prompt');
  const isStream = body['stream'] === true;
  const count = readLimit(body, 'n') ?? 1;
  if (count > (isStream ? 1 : maxPictures)) throw new BadRequest('n is too large', 'n');
  const size = readSize(body['size']);
  const seeds = Array.from({ length: count }, (_, index) => `${prompt}${index === 0 ? '' : index}`);
  const pictures = await Promise.all(seeds.map((seed) => drawPicture(seed, size)));
  const partials = isStream ? await drawPartials(prompt, size, readPartials(body['partial_images'])) : [];
  const { created } = createIdentity();
  const about = {
    background: 'opaque',
    output_format: 'png',
    quality: 'low',
    size: `${size.width}x${size.height}`,
  };
  const usage = writeUsage(prompt, size, count);
  return {
    model: readModel(body),
    text: prompt,
    isStream,
    whole: () => ({ created, ...about, data: pictures.map((picture) => ({ b64_json: encode(picture) })), usage }),
    events: () => [
      ...partials.map((picture, index) =>
        event('partial_image', {
          b64_json: encode(picture),
          partial_image_index: index,
          created_at: created,
          ...about,
        }),
      ),
      ...pictures.map((picture) =>
        event('completed', { b64_json: encode(picture), created_at: created, ...about, usage }),
      ),
    ],
    failure: (message) => errorBody('openai', 500, message),
    failureEvent: (message) => ({ name: 'error', data: { type: 'error', ...errorBody('openai', 500, message) } }),
  };
}

function event(kind: string, members: object): StreamEvent {
  const name = `image_generation.${kind}`;
  return { name, data: { type: name, ...members }, after: 'thinking' };
}

function drawPartials(prompt: string, size: Size, count: number): Promise<Buffer[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => drawPicture(prompt, size, (index + 1) / (count + 1))));
}

function encode(picture: Buffer): string {
  return picture.toString('base64');
}

function readPartials(value: JsonValue | undefined): number {
  return typeof value === 'number' && value > 0 ? Math.min(Math.floor(value), maxPartials) : 0;
}

/** Larger pictures than the longest side are drawn smaller, and the answer says so. */
function readSize(value: JsonValue | undefined): Size {
  if (value === undefined || value === null || value === 'auto') return { width: defaultSide, height: defaultSide };
  const [, width, height] = /^([1-9]\d{0,3})x([1-9]\d{0,3})$/.exec(String(value)) ?? [];
  if (width === undefined || height === undefined)
    throw new BadRequest('size has to be written as 256x256, or auto', 'size');
  return { width: Math.min(Number(width), longestSide), height: Math.min(Number(height), longestSide) };
}

function writeUsage(prompt: string, { width, height }: Size, count: number): object {
  const input = countTokens(prompt);
  const output = Math.ceil((width * height) / 1024) * count;
  return {
    input_tokens: input,
    input_tokens_details: { text_tokens: input, image_tokens: 0 },
    output_tokens: output,
    total_tokens: input + output,
  };
}
