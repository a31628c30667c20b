// Arrays of numbers, as the page holds them: base64 of their bytes. Each is read once, when it is first asked for.

const ARRAYS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array };
const unpacked = new WeakMap();

function unpack(packed) {
  if (!unpacked.has(packed)) {
    const text = atob(packed.bytes);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    unpacked.set(packed, new ARRAYS[packed.type](bytes.buffer));
  }
  return unpacked.get(packed);
}
