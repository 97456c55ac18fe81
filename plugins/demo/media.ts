import { crc32, deflateSync } from 'node:zlib';

const imageSize = 256; // pixels

/** Draws a square PNG with a gradient. Source: W3C, "Portable Network Graphics". @param seed bytes that determine the colours */
export function drawPng(seed: Buffer): Buffer {
  const rows = Buffer.alloc(imageSize * (1 + imageSize * 3));
  for (let y = 0; y < imageSize; y++) {
    for (let x = 0; x < imageSize; x++) {
      const offset = y * (1 + imageSize * 3) + 1 + x * 3;
      for (let channel = 0; channel < 3; channel++) rows[offset + channel] = mixColour(seed, channel, x, y);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(imageSize, 0);
  header.writeUInt32BE(imageSize, 4);
  header.set([8, 2, 0, 0, 0], 8); // 8 bits, RGB
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    encodeChunk('IHDR', header),
    encodeChunk('IDAT', deflateSync(rows)),
    encodeChunk('IEND', Buffer.alloc(0)),
  ]);
}

function mixColour(seed: Buffer, channel: number, x: number, y: number): number {
  const [from = 0, to = 255] = [seed[channel], seed[channel + 3]];
  return Math.round(from + ((to - from) * (x + y)) / (2 * imageSize));
}

function encodeChunk(type: string, data: Buffer): Buffer {
  const typedData = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(typedData), 4);
  return Buffer.concat([frame.subarray(0, 4), typedData, frame.subarray(4)]);
}

const sampleRate = 16_000;
const toneSeconds = 0.12;
const maxWords = 200;

/** Renders a WAV recording with a tone for each word. Source: Microsoft, "Multimedia Programming Interface". */
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
