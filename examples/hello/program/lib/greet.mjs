export const greet = (names) => `Hello, ${new Intl.ListFormat('en').format(names)}.`;
