type WithoutUndefined<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
} & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
};

/** Leaves out the properties that are undefined, so that optional properties are absent rather than undefined. */
export function omitUndefined<Fields extends object>(fields: Fields): WithoutUndefined<Fields> {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as WithoutUndefined<Fields>;
}
