import type { Json } from './page-api.ts';

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textIn(value: unknown, field: string): string {
  const text = isJson(value) ? value[field] : undefined;
  return typeof text === 'string' ? text : '';
}

export function objectIn(value: unknown, field: string): Json | undefined {
  const object = isJson(value) ? value[field] : undefined;
  return isJson(object) ? object : undefined;
}

export function objectsIn(value: unknown, field: string): readonly Json[] {
  const list = isJson(value) ? value[field] : undefined;
  return Array.isArray(list) ? list.filter(isJson) : [];
}

export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
