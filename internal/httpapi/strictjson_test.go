package httpapi

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestStrictJSONRefuses(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"nothing":               {"", "unexpected end"},
		"white space":           {" \n", "unexpected end"},
		"after the end":         {"{} {}", "after top-level value"},
		"garbage after the end": {"1x", "after top-level value"},
		"duplicate":             {`{"a":1,"a":2}`, "/a is there twice"},
		"duplicate, deep":       {`[{"x":{"a/b":1,"a/b":2}}]`, "/0/x/a~1b is there twice"},
		"duplicate by escape":   {`{"a":1,"\u0061":2}`, "/a is there twice"},
		"lone high surrogate":   {`"\ud800"`, "half a surrogate pair"},
		"lone low surrogate":    {`"\udc00"`, "half a surrogate pair"},
		"two high surrogates":   {`"\ud800\ud800"`, "half a surrogate pair"},
		"invalid UTF-8":         {"\"\xff\"", "UTF-8"},
		"surrogate in UTF-8":    {"\"\xed\xa0\x80\"", "UTF-8"},
		"byte order mark":       {"\ufeff{}", "byte order mark"},
		"comma at the end":      {`[1,]`, "']' looking for beginning of value"},
		"comma in an object":    {`{"a":1,}`, "'}' looking for beginning of object key"},
		"no comma":              {`[1 2]`, "'2' after array element"},
		"no colon":              {`{"a" 1}`, "'1' after object key"},
		"name without quotes":   {`{a:1}`, "'a' looking for beginning of object key"},
		"single quotes":         {`{'a':1}`, "looking for beginning of object key"},
		"comment":               {`/* */1`, "'/' looking for beginning of value"},
		"leading zero":          {`01`, "'1' after top-level value"},
		"plus":                  {`+1`, "'+' looking for beginning of value"},
		"minus alone":           {`-`, "in numeric literal"},
		"no fraction":           {`1.`, "after decimal point"},
		"no exponent":           {`1e+`, "in exponent of numeric literal"},
		"NaN":                   {`NaN`, "'N' looking for beginning of value"},
		"control character":     {"\"a\nb\"", "in string literal"},
		"unknown escape":        {`"\x41"`, "'x' in string escape code"},
		"short escape":          {`"\u12"`, "in \\u hexadecimal"},
		"open string":           {`"abc`, "unexpected end"},
		"open escape":           {`"abc\`, "in string escape code"},
		"open object":           {`{"a":1`, "unexpected end"},
		"open array":            {`[`, "unexpected end"},
		"word":                  {`nul`, "in literal null"},
		"too deep":              {strings.Repeat("[", 40) + strings.Repeat("]", 40), "levels of nesting"},
		"too many values":       {"[" + strings.Repeat("0,", 10_000) + "0]", "/9999 is one value more"},
		"where":                 {"{\n  \"a\": x}", "line 2, byte 8"},
	} {
		n, err := parseStrict([]byte(c.doc))
		if err == nil || n != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q gave %v, want an error with %q", name, c.doc, err, c.want)
		}
	}
}

func TestStrictJSONReads(t *testing.T) {
	for _, doc := range []string{
		`{}`, `[]`, ` [ 1 , -0, 1.5e+10, 0.1E-2, 9007199254740993 ] `, `"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00 é😀\u0000"`,
		`{"a":{"b":[true,false,null,{}]},"A":"","":{"~":"/"}}`, `true`, "\t{\r\n}\n",
	} {
		n, err := parseStrict([]byte(doc))
		if err != nil {
			t.Errorf("%s: %v", doc, err)
			continue
		}
		var want any
		d := json.NewDecoder(strings.NewReader(doc))
		d.UseNumber()
		if err := d.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if got := plain(n); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %#v, want %#v", doc, got, want)
		}
	}
}

// plain is n as encoding/json would decode it.
func plain(n *node) any {
	switch n.kind {
	case kindObject:
		m := map[string]any{}
		for _, f := range n.members {
			m[f.name] = plain(f.value)
		}
		return m
	case kindArray:
		list := []any{}
		for _, item := range n.items {
			list = append(list, plain(item))
		}
		return list
	case kindString:
		return n.text
	case kindNumber:
		return json.Number(n.text)
	case kindBool:
		return n.text == "true"
	}
	return nil
}
