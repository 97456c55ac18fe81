import { encodePng } from '#core/platform/png.ts';

const imageSize = 256; // pixels

export function drawPng(seed: Buffer): Promise<Buffer> {
  const pixels = Buffer.alloc(imageSize * imageSize * 3);
  for (let y = 0; y < imageSize; y++)
    for (let x = 0; x < imageSize; x++)
      for (let channel = 0; channel < 3; channel++)
        pixels[(y * imageSize + x) * 3 + channel] = mixColour(seed, channel, x, y);
  return encodePng({ width: imageSize, height: imageSize, pixels });
}

function mixColour(seed: Buffer, channel: number, x: number, y: number): number {
  const [from = 0, to = 255] = [seed[channel], seed[channel + 3]];
  return Math.round(from + ((to - from) * (x + y)) / (2 * imageSize));
}

const sampleRate = 16_000;
const toneSeconds = 0.12;
const maxWords = 200;

/** Source: Microsoft, "Multimedia Programming Interface". */
export function renderWav(words: readonly string[]): Buffer {
  const samplesPerTone = Math.floor(sampleRate * toneSeconds);
  const spokenWords = words.slice(0, maxWords);
  const samples = Buffer.alloc(spokenWords.length * samplesPerTone * 2);
  spokenWords.forEach((word, index) => {
    const pitch = 220 + (word.length % 12) * 40;
    for (let offset = 0; offset < samplesPerTone; offset++) {
      const loudness = Math.sin((Math.PI * offset) / samplesPerTone) * 8_000;
      const value = Math.round(loudness * Math.sin((2 * Math.PI * pitch * offset) / sampleRate));
      samples.writeInt16LE(value, (index * samplesPerTone + offset) * 2);
    }
  });
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + samples.length, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20); // PCM
  header.writeUInt16LE(1, 22); // channels
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34); // bits
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}
